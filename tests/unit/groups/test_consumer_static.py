"""Static members of a consumer group: away for a while, back under another id."""

from __future__ import annotations

from tests.support.consumer_group import Consumer, Scene, settle

from barnabas.model.errors import ErrorCode


def _pair(scene: Scene) -> tuple[Consumer, Consumer]:
    one = Consumer(scene, "one", "t", instance_id="i1")
    two = Consumer(scene, "two", "t", instance_id="i2")
    settle(scene, one, two)
    return one, two


def test_a_static_member_that_comes_back_has_what_it_had_and_nobody_else_notices() -> None:
    scene = Scene(t=4)
    one, two = _pair(scene)
    had, epoch = one.partitions, scene.group.epoch
    assert one.leave(-2, instance_id="i1").member_epoch == -2
    assert scene.group.members["one"].epoch == -2
    back = Consumer(scene, "one again", "t", instance_id="i1")
    assert (back.partitions, back.epoch) == (had, epoch)
    assert (scene.group.epoch, sorted(scene.group.members)) == (epoch, ["one again", "two"])
    assert two.beat().error_code == 0


def test_nobody_takes_over_an_instance_id_that_is_in_use() -> None:
    scene = Scene(t=4)
    _pair(scene)
    refused = Consumer(scene, "other", "t", instance_id="i1").answer
    assert refused.error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    assert refused.error_message == (
        "Static member other with instance id i1 cannot join the group because the instance id is owned by "
        "one member."
    )


def test_the_earlier_self_is_fenced() -> None:
    scene = Scene(t=4)
    one, _ = _pair(scene)
    one.leave(-2, instance_id="i1")
    Consumer(scene, "one again", "t", instance_id="i1")
    refused = one.beat(instance_id="i1")
    assert refused.error_code == ErrorCode.FENCED_INSTANCE_ID
    assert refused.error_message == "Static member one with instance id i1 was fenced by member one again."


def test_an_instance_id_nobody_has_is_unknown() -> None:
    scene = Scene(t=4)
    _pair(scene)
    refused = scene.heartbeat("one", 3, instance_id="i9")
    assert (refused.error_code, refused.error_message) == (25, "Instance id i9 is unknown.")


def test_a_static_member_that_stays_away_is_out_after_its_session() -> None:
    scene = Scene(t=4)
    one, two = _pair(scene)
    one.leave(-2, instance_id="i1")
    for _ in range(10):
        scene.host.pass_ms(5_000)
        two.beat()
    assert sorted(scene.group.members) == ["two"]
    scene.host.pass_ms(1_000)
    two.beat()
    assert len(two.partitions) == 4


def test_a_static_member_that_leaves_for_good_is_gone_at_once() -> None:
    scene = Scene(t=4)
    one, _ = _pair(scene)
    one.leave(-1, instance_id="i1")
    assert sorted(scene.group.members) == ["two"]
    assert scene.group.static_members == {"i2": "two"}


def test_who_comes_back_with_other_wishes_makes_a_new_epoch() -> None:
    scene = Scene(t=4, u=1)
    one, two = _pair(scene)
    epoch = scene.group.epoch
    one.leave(-2, instance_id="i1")
    scene.host.pass_ms(1_000)
    back = Consumer(scene, "one again", "t", "u", instance_id="i1")
    settle(scene, back, two)
    assert scene.group.epoch == epoch + 1
    assert ("u", 0) in back.partitions


def test_while_it_is_away_its_late_commits_are_stale() -> None:
    scene = Scene(t=4)
    one, _ = _pair(scene)
    epoch = one.epoch
    one.leave(-2, instance_id="i1")
    scene.restart()
    member = scene.group.members["one"]
    assert member.epoch == -2
    assert set(member.assigned) == set(one.owned)
    assert epoch > member.epoch
