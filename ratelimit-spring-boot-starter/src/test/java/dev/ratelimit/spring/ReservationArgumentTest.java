package dev.ratelimit.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.Reservation;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** The request's reservation in the hands of the handler. */
@Tag("servers")
class ReservationArgumentTest extends AppPerTest {

    /** Streams answers, and settles them at what they used. */
    @RestController
    static class Chat {

        volatile CountDownLatch begun = new CountDownLatch(1);

        @GetMapping("/chat")
        SseEmitter chat(@RequestParam long used, Reservation tokens) {
            SseEmitter emitter = new SseEmitter(0L);
            new Thread(() -> {
                        try {
                            emitter.send("first");
                            begun.await();
                            emitter.send("last");
                            tokens.settle(used);
                            tokens.settle(0);
                            emitter.complete();
                        } catch (IOException | InterruptedException e) {
                            emitter.completeWithError(e);
                        }
                    })
                    .start();
            return emitter;
        }

        @GetMapping("/attribute")
        String attribute(HttpServletRequest request) {
            Object reservation = request.getAttribute(Reservation.class.getName());
            return reservation == null ? "none" : reservation.getClass().getSimpleName();
        }

        @GetMapping("/free")
        String free(Reservation tokens) {
            return tokens.settle(5) ? "settled" : "nothing to settle";
        }
    }

    private RunningApp start(RunningApp.Server server, String... more) throws IOException {
        return start(server, List.of(Chat.class), RecipesTest.recipe("Tokens of a language model", more));
    }

    @ParameterizedTest
    @EnumSource(RunningApp.Server.class)
    void settle_onAnotherThreadAfterTheResponseHasBegun_chargesWhatWasUsed(RunningApp.Server server)
            throws IOException {
        RunningApp site = start(server);
        Chat chat = site.bean(Chat.class);
        chat.begun.countDown();

        assertThat(site.get("/chat?used=250").header("RateLimit")).contains("\"tokens\";r=99000");

        // 250 were used, and 1,000 are reserved again
        assertThat(site.get("/chat?used=0").header("RateLimit")).contains("\"tokens\";r=98750");
    }

    @Test
    void attribute_isThereOnlyIfAPolicyCountsSomethingElse() throws IOException {
        RunningApp site = start(RunningApp.Server.TOMCAT, "ratelimit.policies.tokens.match.paths=/chat, /attribute");

        assertThat(site.get("/attribute").body()).isEqualTo("Reservation");
    }

    @Test
    void argument_withoutSuchAPolicy_isEmpty() throws IOException {
        RunningApp site = start(RunningApp.Server.TOMCAT);

        assertThat(site.get("/free").body()).isEqualTo("nothing to settle");
        assertThat(site.get("/attribute").body()).isEqualTo("none");
    }

    @Test
    void argument_whileLimitsAreOff_isEmpty() throws IOException {
        RunningApp site = start(RunningApp.Server.TOMCAT, "ratelimit.enabled=false");

        assertThat(site.get("/free").body()).isEqualTo("nothing to settle");
    }
}
