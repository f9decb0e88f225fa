from __future__ import annotations

from barnabas.ports import (
    Check,
    Create,
    Delete,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    Put,
    Set,
    Write,
)
from barnabas.store.zookeeper_plan import lookups, plan


def test_what_zookeeper_does_itself_needs_no_look() -> None:
    operations: list[Write] = [
        Create("/a"),
        Set("/a", b""),
        Check("/a"),
        Delete("/a"),
        Create("/b-", sequential=True),
    ]
    assert not lookups(operations)
    assert [step.operation for step in plan(operations, ())] == operations
    assert all(not step.outdated_by for step in plan(operations, ()))


def test_put_looks_at_its_parents_and_makes_only_those_that_are_missing() -> None:
    assert lookups([Put("/a/b/c", b"x")]).single == {"/a", "/a/b", "/a/b/c"}
    steps = plan([Put("/a/b/c", b"x")], {"/a"})
    assert [step.operation for step in steps] == [Create("/a/b"), Create("/a/b/c", b"x")]
    assert {error for step in steps for error in step.outdated_by} == {NodeExistsError, NoNodeError}


def test_put_sets_what_exists() -> None:
    (step,) = plan([Put("/a", b"x")], {"/a"})
    assert step.operation == Set("/a", b"x")
    assert step.outdated_by == {NoNodeError}


def test_a_created_node_that_exists_after_all_is_refused_and_not_planned_again() -> None:
    *_, last = plan([Create("/a/b", make_parents=True)], ())
    assert last.operation == Create("/a/b")
    assert NodeExistsError not in last.outdated_by


def test_everything_below_goes_before_what_holds_it() -> None:
    operation = Delete("/a", version=3, recursive=True)
    assert lookups([operation]).whole == {"/a"}
    steps = plan([operation], {"/a", "/a/b", "/a/b/c", "/a-"})
    assert [step.operation for step in steps] == [Delete("/a/b/c"), Delete("/a/b"), Delete("/a", 3)]
    assert NotEmptyError in steps[-1].outdated_by


def test_deleting_what_may_be_missing_and_is_takes_no_step() -> None:
    operation = Delete("/a", missing_ok=True)
    assert lookups([operation]).single == {"/a"}
    assert plan([operation], ()) == []


def test_operations_see_those_before_them() -> None:
    operations: list[Write] = [
        Create("/a"),
        Put("/a/b", b"1"),
        Put("/a/b", b"2"),
        Delete("/a", recursive=True),
        Put("/a", b""),
    ]
    assert [step.operation for step in plan(operations, ())] == [
        Create("/a"),
        Create("/a/b", b"1"),
        Set("/a/b", b"2"),
        Delete("/a/b"),
        Delete("/a"),
        Create("/a"),
    ]


def test_each_step_knows_whose_it_is() -> None:
    operations: list[Write] = [
        Check("/z"),
        Put("/a/b", b""),
        Delete("/c", missing_ok=True),
        Set("/d", b""),
    ]
    assert [step.origin for step in plan(operations, ())] == [0, 1, 1, 3]
