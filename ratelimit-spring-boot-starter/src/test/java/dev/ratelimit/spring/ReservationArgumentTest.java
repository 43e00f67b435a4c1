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
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
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

    /** Reserves what the caller allows, which is an argument. */
    @RestController
    static class Budgeted {

        @GetMapping("/budgeted")
        @RateLimited(policy = "by-argument", cost = "#max")
        String budgeted(
                @RequestParam long max, @RequestParam long used, Reservation tokens, HttpServletRequest request) {
            boolean same = tokens == request.getAttribute(Reservation.class.getName());
            return tokens.settle(used) + " " + same + " "
                    + tokens.decision().charges().size();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Users {

        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    @Test
    void argument_ofAHandlerWhoseArgumentsAreTheCost_coversThatCharge() {
        RunningApp site = start(
                List.of(Budgeted.class),
                "ratelimit.policies.by-argument.limit=1000/day",
                "ratelimit.policies.by-argument.key=ip",
                "ratelimit.policies.by-argument.match.annotated=true");

        assertThat(site.get("/budgeted?max=100&used=7").body()).isEqualTo("true true 1");

        assertThat(site.get("/budgeted?max=0&used=0").header("RateLimit")).contains("r=993");
    }

    @Test
    void argument_coversTheChargesOfAllStages() {
        RunningApp site = start(
                List.of(Budgeted.class, Users.class, RunningApp.Alice.class, RunningApp.WithSecurity.class),
                "ratelimit.policies.by-address.limit=1000/day",
                "ratelimit.policies.by-address.key=ip",
                "ratelimit.policies.by-address.permits=100",
                "ratelimit.policies.by-user.limit=1000/day",
                "ratelimit.policies.by-user.key=principal",
                "ratelimit.policies.by-user.permits=10",
                "ratelimit.policies.by-argument.limit=1000/day",
                "ratelimit.policies.by-argument.key=ip",
                "ratelimit.policies.by-argument.match.annotated=true");

        assertThat(site.getAs("alice", "/budgeted?max=300&used=50").body()).isEqualTo("true true 3");

        assertThat(site.getAs("alice", "/budgeted?max=0&used=0").header("RateLimit"))
                .contains("\"by-address\";r=850", "\"by-user\";r=940", "\"by-argument\";r=950");
    }

    private RunningApp start(Server server, String... more) throws IOException {
        return start(server, List.of(Chat.class), RecipesTest.recipe("Tokens of a language model", more));
    }

    @ParameterizedTest
    @MethodSource("dev.ratelimit.spring.RunningApp#servers")
    void settle_onAnotherThreadAfterTheResponseHasBegun_chargesWhatWasUsed(Server server) throws IOException {
        RunningApp site = start(server);
        Chat chat = site.bean(Chat.class);
        chat.begun.countDown();

        assertThat(site.get("/chat?used=250").header("RateLimit")).contains("\"tokens\";r=99000");

        // 250 were used, and 1,000 are reserved again
        assertThat(site.get("/chat?used=0").header("RateLimit")).contains("\"tokens\";r=98750");
    }

    @Test
    void attribute_isThereOnlyIfAPolicyCountsSomethingElse() throws IOException {
        RunningApp site = start(Server.TOMCAT, "ratelimit.policies.tokens.match.paths=/chat, /attribute");

        assertThat(site.get("/attribute").body()).isEqualTo("Reservation");
    }

    @Test
    void argument_withoutSuchAPolicy_isEmpty() throws IOException {
        RunningApp site = start(Server.TOMCAT);

        assertThat(site.get("/free").body()).isEqualTo("nothing to settle");
        assertThat(site.get("/attribute").body()).isEqualTo("none");
    }

    @Test
    void argument_whileLimitsAreOff_isEmpty() throws IOException {
        RunningApp site = start(Server.TOMCAT, "ratelimit.enabled=false");

        assertThat(site.get("/free").body()).isEqualTo("nothing to settle");
    }
}
