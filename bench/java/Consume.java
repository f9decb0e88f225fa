import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads one partition from its start without a group: Consume <bootstrap> <topic> <records>. Prints the seconds. */
public final class Consume {
    public static void main(String[] arguments) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("enable.auto.commit", "false");
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        TopicPartition where = new TopicPartition(arguments[1], 0);
        long left = Long.parseLong(arguments[2]);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings)) {
            consumer.assign(List.of(where));
            consumer.seekToBeginning(List.of(where));
            long start = System.nanoTime();
            while (left > 0) {
                left -= consumer.poll(Duration.ofSeconds(1)).count();
            }
            System.out.println((System.nanoTime() - start) / 1e9);
        }
    }
}
