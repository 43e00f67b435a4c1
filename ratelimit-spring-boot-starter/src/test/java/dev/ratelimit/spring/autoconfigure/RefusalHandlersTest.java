package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import dev.ratelimit.spring.RawResponse;
import dev.ratelimit.spring.RunningApp;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Refusals are answered by the application's handlers of this exception, and by no others. */
@Tag("servers")
class RefusalHandlersTest {

    /** What describes the answer that a handler would have given. */
    private static final List<String> CONTENT = List.of(
            "Content-Disposition",
            "Content-Encoding",
            "Content-Language",
            "Content-Location",
            "Content-Range",
            "ETag",
            "Last-Modified");

    @Service
    static class Mails {

        @RateLimited(value = "1/hour", name = "mails")
        public String send() {
            return "sent";
        }
    }

    @RestController
    static class Pages {

        private final Mails mails;

        Pages(Mails mails) {
            this.mails = mails;
        }

        @GetMapping("/mail")
        String mail() {
            return mails.send();
        }

        @GetMapping("/wrapped")
        String wrapped() {
            try {
                return mails.send();
            } catch (RateLimitExceededException e) {
                throw new CompletionException(e);
            }
        }

        @GetMapping("/packed")
        String packed(HttpServletResponse response) {
            CONTENT.forEach(name -> response.setHeader(name, "packed"));
            return mails.send();
        }

        @GetMapping("/filter")
        @RateLimited("1/hour")
        String filter() {
            return "";
        }
    }

    @RestController
    static class Opinionated {

        private final Mails mails;

        Opinionated(Mails mails) {
            this.mails = mails;
        }

        @GetMapping("/opinionated")
        String mail() {
            return mails.send();
        }

        @ExceptionHandler
        ResponseEntity<String> any(Exception e) {
            return ResponseEntity.internalServerError().body("an error");
        }
    }

    @RestControllerAdvice
    static class ForRefusals {

        @ExceptionHandler(RateLimitExceededException.class)
        ResponseEntity<String> refused(RateLimitExceededException e) {
            return ResponseEntity.status(420)
                    .header("Retry-After", String.valueOf(e.rejection().retryAfterSeconds()))
                    .body("calm down: " + e.violatedPolicies());
        }

        @ExceptionHandler
        ResponseEntity<String> any(Exception e) {
            return ResponseEntity.internalServerError().body("an error");
        }
    }

    @RestControllerAdvice
    static class WithoutAStatus {

        @ExceptionHandler
        String refused(RateLimitExceededException e) {
            return "calm down";
        }
    }

    @RestControllerAdvice
    @Order(Ordered.HIGHEST_PRECEDENCE)
    static class ForEverything {

        @ExceptionHandler
        @ResponseStatus(HttpStatus.INTERNAL_SERVER_ERROR)
        String any(RuntimeException e) {
            return "an error";
        }
    }

    @SuppressWarnings("NullAway.Init") // each test starts one
    private RunningApp app;

    @AfterEach
    void stop() {
        app.close();
    }

    private void start(Class<?>... advices) {
        List<Class<?>> all = new ArrayList<>(List.of(Mails.class, Pages.class, Opinionated.class));
        all.addAll(List.of(advices));
        app = RunningApp.start(all, "ratelimit.policies.all.limit=100/hour", "ratelimit.policies.all.key=ip");
        assertThat(app.get("/mail").body()).isEqualTo("sent");
    }

    @Test
    void adviceForRefusals_answers() {
        start(ForRefusals.class);

        RawResponse refused = app.get("/mail");

        assertThat(refused.status()).isEqualTo(420);
        assertThat(refused.body()).isEqualTo("calm down: [mails]");
        assertThat(refused.header("RateLimit")).contains("\"all\";r=98");
        assertThat(refused.header("Retry-After")).isBetween("3600", "3601");
        assertThat(refused.headerLines())
                .filteredOn(line -> line.startsWith("Retry-After"))
                .hasSize(1);
    }

    @Test
    void adviceWithoutAStatus_answersWithThatOfTheRefusal() {
        start(WithoutAStatus.class);

        RawResponse refused = app.get("/mail");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.body()).isEqualTo("calm down");
        assertThat(app.get("/wrapped").body()).isEqualTo("calm down");
    }

    @Test
    void refusal_hasNoHeadersOfTheContentThatItReplaces() {
        start();

        RawResponse refused = app.get("/packed");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(CONTENT).allSatisfy(name -> assertThat(refused.header(name)).isNull());
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
    }

    @Test
    void adviceForRefusals_findsNoHeadersOfTheContentThatItReplaces() {
        start(ForRefusals.class);

        RawResponse refused = app.get("/packed");

        assertThat(refused.status()).isEqualTo(420);
        assertThat(CONTENT).allSatisfy(name -> assertThat(refused.header(name)).isNull());
    }

    @Test
    void adviceForAllExceptions_isNotAsked() {
        start(ForEverything.class);

        RawResponse refused = app.get("/mail");

        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.header("Content-Type")).isEqualTo("application/problem+json");
    }

    @Test
    void adviceForAllExceptions_thatComesFirst_isNotAskedEither() {
        start(ForRefusals.class, ForEverything.class);

        assertThat(app.get("/mail").status()).isEqualTo(429);
    }

    @Test
    void controllersHandlerOfAllExceptions_whichSpringPrefers_isNotAsked() {
        start(ForRefusals.class);

        assertThat(app.get("/opinionated").status()).isEqualTo(429);
    }

    @Test
    void refusalOfTheFilter_isNoException() {
        start(ForRefusals.class);
        app.get("/filter");

        assertThat(app.get("/filter").status()).isEqualTo(429);
    }
}
