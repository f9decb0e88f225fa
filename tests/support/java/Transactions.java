import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Transactional producers by name, and what an administrator sees and does about transactions. */
final class Transactions {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, KafkaProducer<byte[], byte[]>> PRODUCERS = new HashMap<>();

    private Transactions() {}

    static JsonNode run(String what, JsonNode command) throws Exception {
        String name = command.get("producer").asText();
        if (what.equals("transaction_open")) {
            Properties settings = Driver.settings(command);
            settings.put("key.serializer", ByteArraySerializer.class.getName());
            settings.put("value.serializer", ByteArraySerializer.class.getName());
            PRODUCERS.put(name, new KafkaProducer<>(settings));
            return JSON.nullNode();
        }
        KafkaProducer<byte[], byte[]> producer = PRODUCERS.get(name);
        switch (what) {
            case "transaction_init" -> producer.initTransactions();
            case "transaction_begin" -> producer.beginTransaction();
            case "transaction_send" -> send(producer, command);
            case "transaction_offsets" -> sendOffsets(producer, command);
            case "transaction_commit" -> producer.commitTransaction();
            case "transaction_abort" -> producer.abortTransaction();
            case "transaction_close" -> PRODUCERS.remove(name).close(Duration.ZERO);
            default -> throw new IllegalArgumentException(command.toString());
        }
        return JSON.nullNode();
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, JsonNode command) throws Exception {
        List<Future<RecordMetadata>> deliveries = new ArrayList<>();
        for (JsonNode value : command.get("values")) {
            byte[] bytes = Base64.getDecoder().decode(value.asText());
            deliveries.add(producer.send(new ProducerRecord<>(
                command.get("topic").asText(), command.get("partition").asInt(), null, bytes)));
        }
        producer.flush();
        for (Future<RecordMetadata> delivery : deliveries) {
            delivery.get();
        }
    }

    private static void sendOffsets(KafkaProducer<byte[], byte[]> producer, JsonNode command) throws Exception {
        ConsumerGroupMetadata[] metadata = new ConsumerGroupMetadata[1];
        Members.named(command.get("member").asText()).ask(consumer -> {
            metadata[0] = consumer.groupMetadata();
            return JSON.nullNode();
        });
        producer.sendOffsetsToTransaction(Members.offsets(command.get("offsets")), metadata[0]);
    }

    static JsonNode administer(String what, JsonNode command, Admin admin) throws Exception {
        return switch (what) {
            case "transactions_list" -> list(admin);
            case "transactions_describe" -> describe(admin, command.get("id").asText());
            case "transactions_producers" -> producers(admin, Members.place(command.get("place")));
            case "transactions_abort" -> Driver.done(admin.abortTransaction(new AbortTransactionSpec(
                Members.place(command.get("place")), command.get("producer_id").asLong(),
                (short) command.get("epoch").asInt(), command.get("coordinator_epoch").asInt())).all());
            case "transactions_fence" -> Driver.done(admin.fenceProducers(List.of(command.get("id").asText())).all());
            default -> throw new IllegalArgumentException(command.toString());
        };
    }

    private static JsonNode list(Admin admin) throws Exception {
        ObjectNode states = JSON.createObjectNode();
        admin.listTransactions().all().get()
            .forEach(one -> states.put(one.transactionalId(), one.state().toString()));
        return states;
    }

    private static JsonNode describe(Admin admin, String id) throws Exception {
        TransactionDescription found = admin.describeTransactions(List.of(id)).description(id).get();
        ObjectNode row = JSON.createObjectNode();
        row.put("state", found.state().toString());
        row.put("producer_id", found.producerId());
        row.put("epoch", found.producerEpoch());
        row.put("timeout_ms", found.transactionTimeoutMs());
        ArrayNode places = row.putArray("places");
        found.topicPartitions().forEach(place -> places.addArray().add(place.topic()).add(place.partition()));
        return row;
    }

    private static JsonNode producers(Admin admin, TopicPartition place) throws Exception {
        ArrayNode rows = JSON.createArrayNode();
        for (ProducerState one
            : admin.describeProducers(List.of(place)).partitionResult(place).get().activeProducers()) {
            ObjectNode row = rows.addObject();
            row.put("producer_id", one.producerId());
            row.put("epoch", one.producerEpoch());
            row.put("coordinator_epoch", one.coordinatorEpoch().orElse(-1));
            row.put("start_offset", one.currentTransactionStartOffset().orElse(-1));
        }
        return rows;
    }
}
