"""The examples in the help texts."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["", "._data", "._machine", "._plans", "._sweep"])
def test_examples_in_help_texts_are_right(name):
    module = importlib.import_module(f"tuwtree{name}")
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried > 0
    assert failed == 0
