"""The tables of kafka-consumer-groups are Kafka's, blank for blank."""

from __future__ import annotations

import pytest

from barnabas.cli.parts import consumer_groups_tables as tables
from barnabas.cli.parts.consumer_groups_rows import assignment_text, offset_rows, partitions_of
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.list_groups import ListedGroup
from barnabas.wire.admin.group_offsets import Committed
from barnabas.wire.admin.groups import Group, Member
from barnabas.wire.coordinators import Coordinator

NODE = Coordinator(1, "127.0.0.1", 9092)
T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
ONE = Member("member-one", None, "client-1", "/127.0.0.1", frozenset({T1}))
TWO = Member("member-two", None, "client-2", "/127.0.0.1", frozenset({U0, T0}))


def group(*members: Member, state: str = "Stable", **more: int) -> Group:
    return Group("g", NODE, state, "range", members, **more)


def test_groups_are_listed_by_name_alone_or_with_type_and_state() -> None:
    listed = [
        ListedGroup("g", "consumer", "Stable", "classic"),
        ListedGroup("h" * 20, "consumer", "Empty", ""),
    ]
    assert list(tables.list_lines(listed, False, False)) == ["g", "h" * 20]
    assert list(tables.list_lines(listed, True, True)) == [
        f"{'GROUP':<30} {'TYPE':<20} {'STATE':<20}",
        f"{'g':<30} {'Classic':<20} {'Stable':<20}",
        f"{'h' * 20:<30} {'Unknown':<20} {'Empty':<20}",
    ]
    assert list(tables.list_lines([], False, True)) == [f"{'GROUP':<25} {'STATE':<20}"]


def test_rows_come_by_member_and_partitions_nobody_reads_come_last() -> None:
    committed = {T0: Committed(3, 1, ""), TopicPartition("old", 0): Committed(5, None, "")}
    rows = offset_rows(group(ONE, TWO), committed, {T0: 10, T1: 4, U0: 0})
    assert [(row.partition, row.member and row.member.member_id) for row in rows] == [
        (T0, "member-two"),
        (U0, "member-two"),
        (T1, "member-one"),
        (TopicPartition("old", 0), None),
    ]
    assert [row.lag for row in rows] == [7, None, None, None]
    assert partitions_of(group(ONE, TWO), committed) == {T0, T1, U0, TopicPartition("old", 0)}


def test_offsets_are_shown_with_a_dash_for_what_is_not_known() -> None:
    committed = {T0: Committed(3, 1, "")}
    rows = offset_rows(group(ONE), committed, {T0: 10, T1: 4})
    assert list(tables.offset_lines(rows, verbose=False)) == [
        "",
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             "
        "CONSUMER-ID     HOST            CLIENT-ID",
        "g               t               1          -               4               -               "
        "member-one      /127.0.0.1      client-1",
        "g               t               0          3               10              7               "
        "-               -               -",
    ]
    verbose = list(tables.offset_lines(rows, verbose=True))
    assert verbose[1].split()[3] == "LEADER-EPOCH"
    assert verbose[3].split()[3] == "1"
    assert list(tables.offset_lines([], verbose=False)) == []


def test_columns_grow_with_what_is_in_them() -> None:
    far = TopicPartition("a-topic-with-a-long-name", 0)
    rows = offset_rows(group(), {far: Committed(0, None, "")}, {far: 1})
    _, title, row = tables.offset_lines(rows, verbose=False)
    assert title.index("PARTITION") == row.index("0  ") == 16 + len(far.topic) + 1


def test_members_are_shown_with_their_instance_only_if_one_has_any() -> None:
    assert list(tables.member_lines(group(ONE), verbose=False)) == [
        "",
        "GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     ",
        "g               member-one      /127.0.0.1      client-1        1               ",
    ]
    static = Member("m", "instance", "c", "/h", frozenset())
    _, title, _, row = tables.member_lines(group(ONE, static), verbose=False)
    assert title.split()[2] == "GROUP-INSTANCE-ID"
    assert row.split() == ["g", "m", "instance", "/h", "c", "0"]


def test_epochs_and_assignments_of_members_are_verbose() -> None:
    member = Member("m", None, "c", "/h", frozenset({T0, T1}), frozenset({T0}), 3, True)
    lines = list(tables.member_lines(group(member, assignment_epoch=4), verbose=True))
    assert lines[1].split()[5:] == [
        "CURRENT-EPOCH",
        "CURRENT-ASSIGNMENT",
        "TARGET-EPOCH",
        "TARGET-ASSIGNMENT",
    ]
    assert lines[2].split()[5:] == ["3", "t:0,1", "4", "t:0"]
    classic = list(tables.member_lines(group(ONE), verbose=True))
    assert classic[2].split()[5:] == ["-", "t:1", "-", "-"]
    assert classic[2].endswith(f"{'-':<20}")


def test_a_group_that_is_being_upgraded_says_who_is_already() -> None:
    new = Member("m", None, "c", "/h", frozenset(), frozenset(), 3, True)
    old = Member("n", None, "c", "/h", frozenset(), frozenset(), 3, False)
    lines = list(tables.member_lines(group(new, old), verbose=True))
    assert [line.split()[-1] for line in lines[1:]] == ["UPGRADED", "true", "false"]


def test_the_state_names_the_coordinator_and_the_assignor() -> None:
    assert list(tables.state_lines(group(ONE), verbose=False)) == [
        "",
        "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS",
        "g               127.0.0.1:9092  (1)       range                Stable               1",
    ]
    verbose = list(tables.state_lines(group(epoch=2, assignment_epoch=1), verbose=True))
    assert verbose[2].split()[-3:] == ["2", "1", "0"]


@pytest.mark.parametrize(
    ("state", "warning"),
    [
        ("Stable", None),
        ("Empty", "\nConsumer group 'g' has no active members."),
        ("PreparingRebalance", "\nWarning: Consumer group 'g' is rebalancing."),
        ("Reconciling", "\nWarning: Consumer group 'g' is rebalancing."),
    ],
)
def test_an_unusual_state_is_announced(state: str, warning: str | None) -> None:
    assert tables.state_warning("g", state) == warning


def test_a_plan_is_shown_as_a_table_or_as_csv_that_can_be_read_back() -> None:
    plans = {"g": {T1: 5, T0: 0}, "f": {}}
    assert list(tables.reset_lines(plans)) == [
        "",
        "GROUP           TOPIC           PARTITION  NEW-OFFSET",
        "g               t               0          0",
        "g               t               1          5",
    ]
    assert list(tables.reset_lines({})) == [""]
    assert list(tables.csv_lines(plans, with_group=False)) == ["t,0,0", "t,1,5"]
    assert list(tables.csv_lines({'a,"b': {T0: 1}}, with_group=True)) == ['"a,""b",t,0,1']


def test_deleting_says_what_became_of_each() -> None:
    assert list(tables.deleted_group_lines({"a": None, "b": None})) == [
        "Deletion of requested consumer groups ('a', 'b') was successful."
    ]
    assert list(tables.deleted_group_lines({"a": None, "b": "X: no"})) == [
        "\nError: Deletion of some consumer groups failed:",
        "* Group 'b' could not be deleted due to: X: no",
        "\nThese consumer groups were deleted successfully: 'a'",
    ]
    assert list(tables.deleted_offset_lines({T0: None, TopicPartition("x", -1): "Y: gone"})) == [
        "",
        "TOPIC           PARTITION  STATUS         ",
        "t               0          Successful     ",
        "x               -          Error: Y: gone ",
    ]


def test_an_assignment_is_one_word() -> None:
    tenth = TopicPartition("t", 10)
    assert assignment_text([U0, tenth, T1, T0]) == "t:0,1,10;u:0"
