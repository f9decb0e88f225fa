import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;

/** What an administrator sees and does about groups. */
final class Groups {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Groups() {}

    static JsonNode run(String what, JsonNode command, Admin admin) throws Exception {
        String group = command.path("group").asText();
        return switch (what) {
            case "groups_list" -> list(command, admin);
            case "groups_describe" -> describe(group, admin);
            case "groups_offsets" -> offsets(group, admin);
            case "groups_alter_offsets" -> Driver.done(
                admin.alterConsumerGroupOffsets(group, Members.offsets(command.get("offsets"))).all());
            case "groups_delete_offsets" -> Driver.done(
                admin.deleteConsumerGroupOffsets(group, places(command.get("places"))).all());
            case "groups_delete" -> Driver.done(admin.deleteConsumerGroups(List.of(group)).all());
            case "groups_remove_member" -> Driver.done(admin.removeMembersFromConsumerGroup(group,
                new RemoveMembersFromConsumerGroupOptions(
                    Set.of(new MemberToRemove(command.get("instance_id").asText())))).all());
            default -> throw new IllegalArgumentException(command.toString());
        };
    }

    private static JsonNode list(JsonNode command, Admin admin) throws Exception {
        ListGroupsOptions options = new ListGroupsOptions();
        Set<GroupState> states = new HashSet<>();
        command.get("states").forEach(state -> states.add(GroupState.parse(state.asText())));
        Set<GroupType> types = new HashSet<>();
        command.get("types").forEach(type -> types.add(GroupType.parse(type.asText())));
        ObjectNode groups = JSON.createObjectNode();
        admin.listGroups(options.inGroupStates(states).withTypes(types)).all().get().forEach(one ->
            groups.putArray(one.groupId()).add(one.type().map(GroupType::toString).orElse(""))
                .add(one.groupState().map(GroupState::toString).orElse("")));
        return groups;
    }

    private static JsonNode describe(String group, Admin admin) throws Exception {
        ConsumerGroupDescription found = admin.describeConsumerGroups(List.of(group)).describedGroups().get(group).get();
        ObjectNode row = JSON.createObjectNode();
        row.put("state", found.groupState().toString());
        row.put("type", found.type().toString());
        row.put("assignor", found.partitionAssignor());
        ArrayNode members = row.putArray("members");
        for (MemberDescription one : found.members()) {
            ArrayNode member = members.addArray().add(one.consumerId()).add(one.groupInstanceId().orElse(null))
                .add(one.clientId());
            ArrayNode places = member.addArray();
            one.assignment().topicPartitions().forEach(
                place -> places.addArray().add(place.topic()).add(place.partition()));
        }
        return row;
    }

    private static JsonNode offsets(String group, Admin admin) throws Exception {
        ArrayNode rows = JSON.createArrayNode();
        Map<TopicPartition, org.apache.kafka.clients.consumer.OffsetAndMetadata> found =
            admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        found.forEach((place, committed) -> rows.addArray().add(place.topic()).add(place.partition())
            .add(committed == null ? JSON.nullNode() : Members.committed(committed)));
        return rows;
    }

    private static Set<TopicPartition> places(JsonNode nodes) {
        Set<TopicPartition> places = new HashSet<>();
        nodes.forEach(node -> places.add(Members.place(node)));
        return places;
    }
}
