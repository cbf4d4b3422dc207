"""Tables: reading in blocks, roles and survey of columns, recipe, points, ids."""
