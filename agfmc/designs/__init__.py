"""Which binary classifiers: schemes, codes, trees from data, ensembles, order of classes."""
