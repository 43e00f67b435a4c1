package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
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
            interface Customers { String planOf(String user); java.util.Map<String, String> plans(); }
            record Question() {}
            record Answer(long tokens) {}
            interface Model {
                static Answer ask(Question question) { return new Answer(1); }
                static void stream(String prompt, SseEmitter to, java.util.function.LongConsumer used) {}
            }
            record Hit() {}
            record Report() {}
            """;

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

    /** A snippet as a file in a package of its own, because all are compiled at once. */
    private static final class Snippet extends SimpleJavaFileObject {

        private final String page;
        private final String source;

        Snippet(String page, String source, int number) {
            super(URI.create("string:///s" + number + "/Snippet.java"), Kind.SOURCE);
            this.page = page;
            this.source = "package s" + number + "; " + source;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
        }
    }

    private static List<Diagnostic<? extends JavaFileObject>> errors = List.of();

    @BeforeAll
    static void compile(@TempDir Path classes) throws IOException {
        List<Snippet> snippets = new ArrayList<>();
        for (String page : pages().toList()) {
            BLOCK.matcher(Files.readString(Path.of(page)))
                    .results()
                    .map(block -> block.group(1))
                    .filter(block -> !OTHER_LIBRARIES.matcher(block).find())
                    .forEach(block -> snippets.add(new Snippet(page, OnBoot.source(source(block)), snippets.size())));
        }
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        List<String> options = List.of("-proc:none", "-Xmaxerrs", "0", "-cp", path, "-d", classes.toString());
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();

        boolean compiled = ToolProvider.getSystemJavaCompiler()
                .getTask(null, null, found, options, null, snippets)
                .call();

        errors = found.getDiagnostics().stream()
                .filter(one -> one.getKind() == Diagnostic.Kind.ERROR)
                .toList();
        assertThat(compiled).isEqualTo(errors.isEmpty());
    }

    @ParameterizedTest
    @MethodSource("pages")
    void page_itsJava_compiles(String page) {
        assertThat(errors)
                .filteredOn(error -> !(error.getSource() instanceof Snippet snippet) || snippet.page.equals(page))
                .extracting(
                        error -> error + "\n" + (error.getSource() instanceof Snippet snippet ? snippet.source : ""))
                .isEmpty();
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
}
