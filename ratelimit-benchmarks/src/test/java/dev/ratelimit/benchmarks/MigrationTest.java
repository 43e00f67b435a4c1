package dev.ratelimit.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What is migrated from in docs/migrate, and what to, exactly as written there: both admit the same first calls. The
 * clock is the system's, but no permit comes back within seconds.
 */
class MigrationTest {

    @TempDir
    private Path classes;

    @ParameterizedTest
    @CsvSource({"bucket4j.md, 5", "resilience4j.md, 5", "guava.md, 1"})
    void before_andAfter_admitTheSameCalls(String name, int admitted) throws IOException, ReflectiveOperationException {
        String page = Files.readString(Path.of("..", "docs", "migrate", name));

        for (String type : List.of("Before", "After")) {
            String code = List.of(page.split("```java\n")).stream()
                    .map(block -> block.split("```", 2)[0])
                    .filter(block -> block.contains("class " + type + " {"))
                    .findFirst()
                    .orElseThrow();
            assertThat(errors(type, code)).as(code).isEmpty();
            assertThat(calls(type, 7)).as(type).isEqualTo(admitted);
        }
    }

    private long calls(String type, int times) throws IOException, ReflectiveOperationException {
        URL[] path = {classes.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(path, getClass().getClassLoader())) {
            Class<?> limited = loader.loadClass(type);
            Constructor<?> constructor = limited.getDeclaredConstructor();
            constructor.setAccessible(true);
            Object limiter = constructor.newInstance();
            Method admitted = limited.getDeclaredMethod("admitted");
            admitted.setAccessible(true);
            List<Object> answers = new ArrayList<>();
            for (int i = 0; i < times; i++) {
                answers.add(admitted.invoke(limiter));
            }
            return IntStream.range(0, times)
                    .takeWhile(i -> answers.get(i).equals(true))
                    .count();
        }
    }

    private String errors(String type, String code) {
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///" + type + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return code;
                    }
                };
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        StringWriter errors = new StringWriter();
        List<String> options = List.of("-proc:none", "-cp", path, "-d", classes.toString());
        boolean compiled = ToolProvider.getSystemJavaCompiler()
                .getTask(errors, null, null, options, null, List.of(file))
                .call();
        return compiled ? "" : errors.toString();
    }
}
