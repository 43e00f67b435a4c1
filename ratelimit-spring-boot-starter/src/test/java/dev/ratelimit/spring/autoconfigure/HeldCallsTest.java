package dev.ratelimit.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.ratelimit.spring.OnBoot;
import dev.ratelimit.spring.RateLimitConfigurationException;
import dev.ratelimit.spring.RateLimitExceededException;
import dev.ratelimit.spring.RateLimited;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.scheduling.annotation.Async;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Concurrency limits of method calls: permits come back when the work has ended, not before. */
class HeldCallsTest {

    /** A result type of an application. */
    static class Receipt extends CompletableFuture<String> {}

    /** A stage that tells nobody when it is complete. */
    static class Silent extends CompletableFuture<String> {

        @Override
        public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
            throw new UnsupportedOperationException("on purpose");
        }
    }

    /** One call at a time. */
    static class Exports {

        @RateLimited(value = "1", algorithm = "concurrency")
        public String run(Supplier<String> work) {
            return work.get();
        }

        @RateLimited(value = "1", algorithm = "concurrency")
        public CompletableFuture<String> runLater(CompletableFuture<String> result) {
            return result;
        }

        @RateLimited(value = "1", algorithm = "concurrency")
        public CompletionStage<String> stage(CompletionStage<String> result) {
            return result;
        }

        @RateLimited(value = "1", algorithm = "concurrency")
        public Receipt receipt(Receipt result) {
            return result;
        }
    }

    static class ReturnsMono {
        @RateLimited(value = "1", algorithm = "concurrency")
        public Mono<String> run() {
            return Mono.empty();
        }
    }

    static class ReturnsFlux {
        @RateLimited(value = "1", algorithm = "concurrency")
        public Flux<String> run() {
            return Flux.empty();
        }
    }

    static class ReturnsFuture {
        @RateLimited(value = "1", algorithm = "concurrency")
        public Future<String> run() {
            return new CompletableFuture<>();
        }
    }

    static class ReturnsCallable {
        @RateLimited(value = "1", algorithm = "concurrency")
        public Callable<String> run() {
            return () -> "";
        }
    }

    static class ReturnsStream {
        @RateLimited(value = "1", algorithm = "concurrency")
        public Stream<String> run() {
            return Stream.empty();
        }
    }

    static class RunsLater {
        @Async
        @RateLimited(value = "1", algorithm = "concurrency")
        public void run() {}
    }

    @Async
    static class ClassRunsLater {
        @RateLimited(value = "1", algorithm = "concurrency")
        public void run() {}
    }

    static class RunsLaterAndTells {
        @Async
        @RateLimited(value = "1", algorithm = "concurrency")
        public CompletableFuture<String> run() {
            return new CompletableFuture<>();
        }
    }

    private final WebApplicationContextRunner runner =
            new WebApplicationContextRunner().withConfiguration(OnBoot.webMvc(RateLimitAutoConfiguration.class));

    private void withExports(Consumer<Exports> test) {
        runner.withBean(Exports.class).run(context -> test.accept(context.getBean(Exports.class)));
    }

    @Test
    void call_withinACall_isRefused_andAfterIt_admitted() {
        withExports(exports -> {
            assertThatExceptionOfType(RateLimitExceededException.class)
                    .isThrownBy(() -> exports.run(() -> exports.run(() -> "inside")));
            assertThat(exports.run(() -> "after")).isEqualTo("after");
        });
    }

    @Test
    void call_thatThrows_returnsItsPermit() {
        withExports(exports -> {
            assertThatIllegalStateException()
                    .isThrownBy(() -> exports.run(() -> {
                        throw new IllegalStateException("on purpose");
                    }));
            assertThat(exports.run(() -> "after")).isEqualTo("after");
        });
    }

    @Test
    void stage_holdsThePermitUntilItCompletes_andWhoSeesItsResultHasIt() {
        withExports(exports -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> next = exports.runLater(work)
                    .thenCompose(value -> exports.runLater(CompletableFuture.completedFuture(value + " and next")));

            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> exports.runLater(work));
            work.complete("first");

            assertThat(next).isCompletedWithValue("first and next");
        });
    }

    @Test
    void stage_thatFails_failsTheSame_andReturnsThePermit() {
        withExports(exports -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            AtomicReference<Throwable> seen = new AtomicReference<>();
            exports.stage(work).whenComplete((value, failure) -> seen.set(failure));

            work.completeExceptionally(new IOException("on purpose"));

            assertThat(seen.get()).isInstanceOf(IOException.class);
            assertThat(exports.stage(CompletableFuture.completedFuture("after")))
                    .isCompletedWithValue("after");
        });
    }

    @Test
    void stage_thatIsCancelled_cancelsTheWork_andReturnsThePermit() {
        withExports(exports -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = exports.runLater(work);

            assertThat(result.cancel(true)).isTrue();

            assertThat(work).isCancelled();
            assertThat(result).isCancelled();
            assertThat(exports.runLater(CompletableFuture.completedFuture("after")))
                    .isCompletedWithValue("after");
        });
    }

    @Test
    void stage_ofATypeOfTheApplication_isPassedOn() {
        withExports(exports -> {
            Receipt receipt = new Receipt();

            assertThat(exports.receipt(receipt)).isSameAs(receipt);
            assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(() -> exports.receipt(receipt));
            receipt.complete("there");

            assertThat(exports.receipt(receipt)).isCompletedWithValue("there");
        });
    }

    @Test
    void stage_thatCannotTell_returnsThePermitAtOnce() {
        withExports(exports -> {
            for (int i = 0; i < 2; i++) {
                assertThatExceptionOfType(UnsupportedOperationException.class)
                        .isThrownBy(() -> exports.stage(new Silent()));
            }
        });
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ReturnsMono.class,
                ReturnsFlux.class,
                ReturnsFuture.class,
                ReturnsCallable.class,
                ReturnsStream.class,
                RunsLater.class,
                ClassRunsLater.class
            })
    void workThatGoesOnUnseen_stopsTheStart(Class<?> bean) {
        runner.withUserConfiguration(bean)
                .run(context -> assertThat(NestedExceptionUtils.getMostSpecificCause(
                                Objects.requireNonNull(context.getStartupFailure())))
                        .isInstanceOf(RateLimitConfigurationException.class)
                        .hasMessageContaining(bean.getSimpleName() + ".run(): policy")
                        .hasMessageContaining("goes on after it has returned"));
    }

    @Test
    void asynchronousMethodThatTellsItsEnd_canBeLimited() {
        runner.withUserConfiguration(RunsLaterAndTells.class)
                .run(context -> assertThat(context).hasNotFailed());
    }
}
