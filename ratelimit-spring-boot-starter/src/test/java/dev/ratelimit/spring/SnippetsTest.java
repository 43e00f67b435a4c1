package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every Java snippet of the docs compiles exactly as written, with its imports. */
class SnippetsTest {

    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    /** What is migrated from: compiled and run by the benchmarks' {@code MigrationTest}. */
    private static final Pattern OTHER_LIBRARIES =
            Pattern.compile("^import (com\\.google|io\\.github)\\.", Pattern.MULTILINE);

    /** Names that snippets use from the reader's application, and annotations of its web framework. */
    private static final String READERS = """
            import java.util.List;
            import org.springframework.http.ResponseEntity;
            import org.springframework.web.bind.annotation.GetMapping;
            import org.springframework.web.bind.annotation.PostMapping;
            import org.springframework.web.bind.annotation.RequestBody;
            import org.springframework.web.bind.annotation.RequestParam;
            import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
            interface Tenants { String of(String serverName); }
            interface Customers { String planOf(String user); }
            record Question() {}
            record Answer(long tokens) {}
            interface Model {
                static Answer ask(Question question) { return new Answer(1); }
                static void stream(String prompt, SseEmitter to, java.util.function.LongConsumer used) {}
            }
            record Hit() {}
            record Report() {}
            """;

    @TempDir
    private Path classes;

    /** Of modules that the starter does not know: compiled and run by the tests of these pages. */
    private static final List<String> OTHERS = List.of("client.md", "simulator.md", "webflux.md", "/gateway.md");

    static Stream<String> pages() throws IOException {
        try (Stream<Path> docs = Files.walk(DOCS)) {
            return Stream.concat(
                    Stream.of("../README.md"),
                    docs.map(Path::toString)
                            .filter(page ->
                                    page.endsWith(".md") && OTHERS.stream().noneMatch(page::endsWith)))
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("pages")
    void page_itsJava_compiles(String page) throws IOException {
        List<String> blocks = BLOCK.matcher(Files.readString(Path.of(page)))
                .results()
                .map(MatchResult::group)
                .toList();

        for (String block : blocks) {
            if (OTHER_LIBRARIES.matcher(block).find()) {
                continue;
            }
            String source =
                    OnBoot.source(source(block.substring("```java\n".length(), block.length() - "```".length())));

            assertThat(errors(source)).as(source).isEmpty();
        }
    }

    /** The snippet as a file: a class stays unchanged, members and statements are wrapped. */
    private static String source(String snippet) {
        String imports = lines(snippet, true);
        String code = lines(snippet, false).replace("{ … }", "{ throw new IllegalStateException(); }");
        if (Pattern.compile("^(final |public )?class ", Pattern.MULTILINE)
                .matcher(code)
                .find()) {
            return imports + READERS + code;
        }
        boolean onlyAnnotations = !code.contains("{") && code.strip().startsWith("@");
        boolean members = code.contains("@");
        String body = onlyAnnotations ? code + "void annotated() {}" : members ? code : "{" + code + "}";
        return imports + READERS + "class Snippet {" + body + "}";
    }

    private static String lines(String snippet, boolean imports) {
        return snippet.lines()
                .filter(line -> line.startsWith("import ") == imports)
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private String errors(String source) {
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Snippet.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter errors = new StringWriter();
        List<String> options = List.of("-proc:none", "-cp", path, "-d", classes.toString());
        return compiler.getTask(errors, null, null, options, null, List.of(file))
                        .call()
                ? ""
                : errors.toString();
    }
}
