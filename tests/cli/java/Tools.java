import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.utils.Exit;

/**
 * Runs Kafka's tools one after another in this JVM: a JSON list [class, argument, ...] per line in,
 * {"code", "stdout", "stderr"} out. Starting a JVM costs more than any of these tools does.
 */
public class Tools {
    public static void main(String[] none) throws Exception {
        PrintStream answers = System.out;
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            List<?> words = json.readValue(line, List.class);
            answers.println(json.writeValueAsString(run(words.stream().map(String::valueOf).toArray(String[]::new))));
            answers.flush();
        }
        System.exit(0);
    }

    private static Map<String, Object> run(String[] words) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        CompletableFuture<Integer> code = new CompletableFuture<>();
        System.setOut(new PrintStream(out, true, "UTF-8"));
        System.setErr(new PrintStream(err, true, "UTF-8"));
        // A tool that exits must not go on. An exception would be caught and printed by the tool itself,
        // so its thread is parked for good instead, and the next tool gets another one.
        Exit.Procedure leave = (status, message) -> {
            code.complete(status);
            while (true) LockSupport.park();
        };
        Exit.setExitProcedure(leave);
        Exit.setHaltProcedure(leave);
        String[] arguments = java.util.Arrays.copyOfRange(words, 1, words.length);
        Thread tool = new Thread(() -> {
            try {
                Class.forName(words[0]).getMethod("main", String[].class).invoke(null, (Object) arguments);
                code.complete(0);
            } catch (InvocationTargetException thrown) {
                thrown.getCause().printStackTrace();
                code.complete(1);
            } catch (ReflectiveOperationException missing) {
                code.completeExceptionally(missing);
            }
        });
        tool.setDaemon(true);
        tool.start();
        int status = code.get(120, TimeUnit.SECONDS);
        return Map.of("code", status, "stdout", out.toString("UTF-8"), "stderr", err.toString("UTF-8"));
    }
}
