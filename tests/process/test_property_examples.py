"""Property tests: the same examples in every run, and others where they are asked for."""

from hypothesis import settings


def test_the_examples_of_a_run_are_always_the_same(request):
    usual = settings.get_profile("repeatable")
    assert usual.derandomize and usual.database is None and usual.deadline is None
    for item in request.session.items:
        own = getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", usual)
        assert own.derandomize == settings.default.derandomize, item.nodeid
        assert own.database is None and own.deadline is None, item.nodeid
