"""Differences of the supported Pythons."""

import ast

from tests.house.files import PYTHON, ROOT

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)


def variables(comprehension: ast.ListComp | ast.SetComp | ast.DictComp) -> set[str]:
    return {
        node.id
        for generator in comprehension.generators
        for node in ast.walk(generator.target)
        if isinstance(node, ast.Name)
    }


def test_no_comprehension_has_a_variable_of_the_name_of_what_another_one_calls() -> None:
    """Python 3.12.1 raises UnboundLocalError: it takes the function for the variable."""
    wrong = []
    for path in PYTHON:
        module = ast.parse(path.read_text())
        functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
        names = {function.name for function in functions}
        for function in functions:
            nodes = list(ast.walk(function))
            taken = set[str]()
            for node in nodes:
                if isinstance(node, COMPREHENSIONS):
                    taken |= variables(node) & names
            called = {
                node.func.id
                for node in nodes
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            wrong += [
                f"{path.relative_to(ROOT)}: {function.name} has {name}" for name in taken & called
            ]
    assert wrong == []
