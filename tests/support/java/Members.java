import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Members of groups: each polls on a thread of its own, and does there whatever else it is asked. */
final class Members {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long TIMEOUT_S = 60;
    private static final Map<String, Member> MEMBERS = new HashMap<>();

    private Members() {}

    static Member named(String name) {
        return MEMBERS.get(name);
    }

    static JsonNode run(String what, JsonNode command) throws Exception {
        String name = command.get("member").asText();
        if (what.equals("member_open")) {
            MEMBERS.put(name, new Member(command));
            return JSON.nullNode();
        }
        Member member = MEMBERS.get(name);
        return switch (what) {
            case "member_state" -> member.state();
            case "member_received" -> member.receivedSince(command.get("from").asInt());
            case "member_commit" -> member.ask(consumer -> commit(consumer, command.get("offsets")));
            case "member_committed" -> member.ask(consumer -> committed(consumer, place(command.get("place"))));
            case "member_seek" -> member.ask(consumer -> {
                consumer.seek(place(command.get("place")), command.get("offset").asLong());
                return JSON.nullNode();
            });
            case "member_offset_for_time" -> member.ask(consumer -> {
                TopicPartition place = place(command.get("place"));
                OffsetAndTimestamp found =
                    consumer.offsetsForTimes(Map.of(place, command.get("timestamp_ms").asLong())).get(place);
                return JSON.getNodeFactory().numberNode(found == null ? -1 : found.offset());
            });
            case "member_close" -> MEMBERS.remove(name).close();
            default -> throw new IllegalArgumentException(command.toString());
        };
    }

    private static JsonNode commit(KafkaConsumer<byte[], byte[]> consumer, JsonNode offsets) {
        if (offsets.isNull()) {
            consumer.commitSync();
        } else {
            consumer.commitSync(offsets(offsets));
        }
        return JSON.nullNode();
    }

    private static JsonNode committed(KafkaConsumer<byte[], byte[]> consumer, TopicPartition place) {
        OffsetAndMetadata found = consumer.committed(Set.of(place)).get(place);
        return found == null ? JSON.nullNode() : committed(found);
    }

    static JsonNode committed(OffsetAndMetadata found) {
        ArrayNode row = JSON.createArrayNode().add(found.offset()).add(found.metadata());
        found.leaderEpoch().ifPresentOrElse(row::add, row::addNull);
        return row;
    }

    static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode rows) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (JsonNode row : rows) {
            Optional<Integer> epoch = row.get(4).isNull() ? Optional.empty() : Optional.of(row.get(4).asInt());
            offsets.put(place(row), new OffsetAndMetadata(row.get(2).asLong(), epoch, row.get(3).asText()));
        }
        return offsets;
    }

    static TopicPartition place(JsonNode node) {
        return new TopicPartition(node.get(0).asText(), node.get(1).asInt());
    }

    interface Work {
        JsonNode with(KafkaConsumer<byte[], byte[]> consumer) throws Exception;
    }

    private record Asked(Work work, CompletableFuture<JsonNode> answer) {
        void answer(KafkaConsumer<byte[], byte[]> consumer) {
            try {
                answer.complete(work.with(consumer));
            } catch (Exception problem) {
                answer.completeExceptionally(problem);
            }
        }
    }

    static final class Member {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final ConcurrentLinkedQueue<Asked> asked = new ConcurrentLinkedQueue<>();
        private final CopyOnWriteArrayList<ConsumerRecord<byte[], byte[]>> received = new CopyOnWriteArrayList<>();
        private final Thread thread = new Thread(this::poll);
        private volatile Set<TopicPartition> assignment = Set.of();
        private volatile Exception error;
        private volatile boolean closing;
        private volatile boolean ended;

        Member(JsonNode command) {
            Properties settings = Driver.settings(command);
            settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
            settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
            consumer = new KafkaConsumer<>(settings);
            String pattern = command.get("pattern").isNull() ? null : command.get("pattern").asText();
            if (pattern == null) {
                consumer.subscribe(JSON.convertValue(command.get("topics"), List.class));
            } else if ("consumer".equals(settings.get("group.protocol"))) {
                consumer.subscribe(new SubscriptionPattern(pattern));
            } else {
                consumer.subscribe(Pattern.compile(pattern));
            }
            thread.setDaemon(true);
            thread.start();
        }

        private void poll() {
            try {
                while (!closing) {
                    for (Asked next = asked.poll(); next != null; next = asked.poll()) {
                        next.answer(consumer);
                    }
                    consumer.poll(Duration.ofMillis(50)).forEach(received::add);
                    assignment = consumer.assignment();
                }
            } catch (Exception problem) {
                error = problem;
            }
            assignment = Set.of();
            ended = true;
            refuseTheRest();
            consumer.close(CloseOptions.timeout(Duration.ofSeconds(TIMEOUT_S)));
        }

        JsonNode ask(Work work) throws Exception {
            Asked question = new Asked(work, new CompletableFuture<>());
            asked.add(question);
            if (ended) {
                refuseTheRest(); // the thread may have looked for the last time before this was added
            }
            return question.answer.get(TIMEOUT_S, TimeUnit.SECONDS);
        }

        /** Who asks a member that polls no more is told why it ended. */
        private void refuseTheRest() {
            Exception reason = error != null ? error : new IllegalStateException("the member is closed");
            for (Asked next = asked.poll(); next != null; next = asked.poll()) {
                next.answer.completeExceptionally(reason);
            }
        }

        JsonNode state() {
            ObjectNode state = JSON.createObjectNode();
            ArrayNode places = state.putArray("assignment");
            assignment.forEach(place -> places.addArray().add(place.topic()).add(place.partition()));
            if (error != null) {
                state.put("error", Errors.forException(error).code()).put("reason", error.toString());
            }
            return state;
        }

        JsonNode receivedSince(int from) {
            ArrayNode rows = JSON.createArrayNode();
            for (int index = from; index < received.size(); index++) {
                ConsumerRecord<byte[], byte[]> record = received.get(index);
                rows.addArray().add(record.topic()).add(record.partition()).add(record.offset())
                    .add(record.value() == null ? null : Base64.getEncoder().encodeToString(record.value()));
            }
            return rows;
        }

        JsonNode close() throws InterruptedException {
            closing = true;
            thread.join(TIMEOUT_S * 1_000);
            return JSON.nullNode();
        }
    }
}
