package dev.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.ratelimit.test.spring.WithFakeTicker;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

/** The page in a headless browser, where one is installed: its requests, and what it shows of the answers. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@WithFakeTicker
@Tag("servers")
class BrowserTest {

    @LocalServerPort
    private int port;

    @TempDir
    private Path profile;

    private static List<Path> browsers() {
        return Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .toList();
    }

    /** The page as it is after four seconds, which do not pass while a request is being answered. */
    private String page() throws IOException, InterruptedException {
        Path dom = profile.resolve("dom.html");
        Process browser = new ProcessBuilder(
                        browsers().get(0).toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--user-data-dir=" + profile,
                        "--virtual-time-budget=4000",
                        "--dump-dom",
                        "http://127.0.0.1:" + port + "/#play")
                .redirectOutput(dom.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(browser.waitFor()).isZero();
        return Files.readString(dom, StandardCharsets.UTF_8);
    }

    @Test
    @Tag("slow")
    void page_played_showsBudgetsAndRefusals() throws IOException, InterruptedException {
        assumeThat(browsers()).as("browsers on the path").isNotEmpty();

        assertThat(page())
                .contains("40 admitted, 0 refused")
                .contains("5 admitted, 2 refused")
                .contains("6 admitted, 0 refused")
                .contains("2 admitted, 2 refused")
                .contains("429 Too Many Requests")
                .containsPattern("<span>LoginController.login</span><span>next in [0-9]+ s</span>")
                .containsPattern("Retry-After: try again in <b>[0-9]+ s</b>")
                .contains("<span>exports</span><span>0 of 2 running</span>");
    }
}
