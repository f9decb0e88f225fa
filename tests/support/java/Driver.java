import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Java's kafka-clients for a test suite in another language: one JSON command per line on standard input, one JSON
 * answer per line on standard output. {"do": ..., "bootstrap": ..., arguments} -> {"ok": ...} or {"code": ..., "error": ...}.
 */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long TIMEOUT_MS = 60_000;
    private static final Map<String, Admin> ADMINS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("ok", run(JSON.readTree(line)));
            } catch (Exception problem) {
                Throwable cause = problem instanceof ExecutionException ? problem.getCause() : problem;
                answer.put("code", Errors.forException(cause).code()).put("error", cause.toString());
            }
            answers.println(JSON.writeValueAsString(answer));
        }
        ADMINS.values().forEach(Admin::close);
    }

    private static JsonNode run(JsonNode command) throws Exception {
        String what = command.get("do").asText();
        return switch (what.substring(0, Math.max(0, what.indexOf('_')))) {
            case "member" -> Members.run(what, command);
            case "transaction" -> Transactions.run(what, command);
            case "transactions" -> Transactions.administer(what, command, admin(command));
            case "groups" -> Groups.run(what, command, admin(command));
            default -> runPlain(what, command);
        };
    }

    private static JsonNode runPlain(String what, JsonNode command) throws Exception {
        return switch (what) {
            case "produce" -> produce(command);
            case "read" -> read(command);
            case "find_offset" -> findOffset(command);
            case "create_topic" -> createTopic(command);
            case "delete_topic" -> done(admin(command).deleteTopics(List.of(topic(command))).all());
            case "create_partitions" -> done(admin(command)
                .createPartitions(Map.of(topic(command), NewPartitions.increaseTo(command.get("total").asInt()))).all());
            case "partition_count" -> JSON.valueToTree(admin(command).describeTopics(List.of(topic(command)))
                .allTopicNames().get().get(topic(command)).partitions().size());
            case "topics" -> JSON.valueToTree(admin(command).listTopics().names().get());
            case "topic_config" -> topicConfig(command);
            case "alter_topic_config" -> alterTopicConfig(command);
            case "delete_records" -> deleteRecords(command);
            case "brokers" -> brokers(command);
            case "log_dirs" -> logDirs(command);
            default -> throw new IllegalArgumentException(command.toString());
        };
    }

    private static JsonNode produce(JsonNode command) throws Exception {
        Properties settings = settings(command);
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
        ArrayNode offsets = JSON.createArrayNode();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings)) {
            List<Future<RecordMetadata>> deliveries = new ArrayList<>();
            for (JsonNode record : command.get("records")) {
                deliveries.add(producer.send(outgoing(topic(command), record)));
            }
            producer.flush();
            for (Future<RecordMetadata> delivery : deliveries) {
                offsets.add(delivery.get().offset());
            }
        }
        return offsets;
    }

    private static ProducerRecord<byte[], byte[]> outgoing(String topic, JsonNode record) {
        Long timestamp = record.get("timestamp_ms").isNull() ? null : record.get("timestamp_ms").asLong();
        ProducerRecord<byte[], byte[]> outgoing = new ProducerRecord<>(
            topic, record.get("partition").asInt(), timestamp, bytes(record.get("key")), bytes(record.get("value")));
        for (JsonNode header : record.get("headers")) {
            outgoing.headers().add(header.get(0).asText(), bytes(header.get(1)));
        }
        return outgoing;
    }

    private static JsonNode read(JsonNode command) {
        Properties settings = settings(command);
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        ArrayNode messages = JSON.createArrayNode();
        int count = command.get("count").asInt();
        TopicPartition where = where(command);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
            consumer.assign(List.of(where));
            consumer.seek(where, command.get("offset").asLong());
            long deadline = System.currentTimeMillis() + TIMEOUT_MS;
            while (messages.size() < count && System.currentTimeMillis() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    if (messages.size() < count) {
                        messages.add(message(record));
                    }
                }
            }
        }
        return messages;
    }

    private static JsonNode message(ConsumerRecord<byte[], byte[]> record) {
        ObjectNode message = JSON.createObjectNode();
        message.put("offset", record.offset());
        message.put("value", text(record.value()));
        message.put("key", text(record.key()));
        message.put("timestamp_ms", record.timestamp());
        message.put("timestamp_type", record.timestampType().id);
        ArrayNode headers = message.putArray("headers");
        for (Header header : record.headers()) {
            headers.addArray().add(header.key()).add(text(header.value()));
        }
        return message;
    }

    private static JsonNode findOffset(JsonNode command) throws Exception {
        long timestamp = command.get("timestamp_ms").asLong();
        OffsetSpec spec = timestamp == -1 ? OffsetSpec.latest()
            : timestamp == -2 ? OffsetSpec.earliest()
            : timestamp == -3 ? OffsetSpec.maxTimestamp()
            : timestamp == -4 ? OffsetSpec.earliestLocal()
            : OffsetSpec.forTimestamp(timestamp);
        return JSON.valueToTree(
            admin(command).listOffsets(Map.of(where(command), spec)).partitionResult(where(command)).get().offset());
    }

    private static JsonNode createTopic(JsonNode command) throws Exception {
        NewTopic topic = new NewTopic(topic(command), command.get("partitions").asInt(),
            (short) command.get("replicas").asInt());
        topic.configs(map(command.get("configs")));
        return done(admin(command).createTopics(List.of(topic)).all());
    }

    private static JsonNode topicConfig(JsonNode command) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic(command));
        ObjectNode config = JSON.createObjectNode();
        admin(command).describeConfigs(List.of(resource)).all().get().get(resource).entries()
            .forEach(entry -> config.put(entry.name(), entry.value()));
        return config;
    }

    private static JsonNode alterTopicConfig(JsonNode command) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic(command));
        List<AlterConfigOp> changes = new ArrayList<>();
        map(command.get("configs")).forEach((name, value) ->
            changes.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)));
        return done(admin(command).incrementalAlterConfigs(Map.of(resource, changes)).all());
    }

    private static JsonNode deleteRecords(JsonNode command) throws Exception {
        RecordsToDelete before = RecordsToDelete.beforeOffset(command.get("before_offset").asLong());
        return JSON.valueToTree(admin(command).deleteRecords(Map.of(where(command), before))
            .lowWatermarks().get(where(command)).get().lowWatermark());
    }

    private static JsonNode brokers(JsonNode command) throws Exception {
        ArrayNode brokers = JSON.createArrayNode();
        for (Node node : admin(command).describeCluster().nodes().get()) {
            brokers.addArray().add(node.id()).add(node.host()).add(node.port());
        }
        return brokers;
    }

    private static JsonNode logDirs(JsonNode command) throws Exception {
        ArrayNode sizes = JSON.createArrayNode();
        int broker = command.get("broker").asInt();
        admin(command).describeLogDirs(List.of(broker)).allDescriptions().get().get(broker).values().forEach(
            directory -> directory.replicaInfos().forEach((where, replica) ->
                sizes.addArray().add(where.topic()).add(where.partition()).add(replica.size())));
        return sizes;
    }

    private static Admin admin(JsonNode command) {
        return ADMINS.computeIfAbsent(command.get("bootstrap").asText(), bootstrap -> {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", bootstrap);
            settings.put("default.api.timeout.ms", "30000");
            return Admin.create(settings);
        });
    }

    static Properties settings(JsonNode command) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", command.get("bootstrap").asText());
        settings.putAll(map(command.get("settings")));
        return settings;
    }

    static JsonNode done(Future<?> work) throws Exception {
        work.get();
        return JSON.getNodeFactory().booleanNode(true);
    }

    private static String topic(JsonNode command) {
        return command.get("topic").asText();
    }

    private static TopicPartition where(JsonNode command) {
        return new TopicPartition(topic(command), command.get("partition").asInt());
    }

    private static Map<String, String> map(JsonNode node) {
        Map<String, String> map = new HashMap<>();
        node.fields().forEachRemaining(field -> map.put(field.getKey(), field.getValue().asText()));
        return map;
    }

    private static byte[] bytes(JsonNode node) {
        return node.isNull() ? null : Base64.getDecoder().decode(node.asText());
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}
