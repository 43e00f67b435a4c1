package dev.ratelimit.spring.boot.method;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The result of a call that holds permits until the result is there: a copy, so that the permits are back before anybody
 * sees it. It fails as the original does, and cancelling it cancels the original.
 */
final class HeldResult<T> extends CompletableFuture<T> {

    private final CompletionStage<T> original;

    private HeldResult(CompletionStage<T> original) {
        this.original = original;
    }

    /**
     * Returns permits when the stage has completed.
     *
     * @param declared the type that the caller expects; the original is passed on if it is a special one
     * @param release returns the permits
     */
    static <T> CompletionStage<T> of(CompletionStage<T> stage, Class<?> declared, Runnable release) {
        HeldResult<T> copy = new HeldResult<>(stage);
        CompletionStage<T> unused = stage.whenComplete((value, failure) -> {
            release.run();
            if (failure == null) {
                copy.complete(value);
            } else {
                copy.completeExceptionally(failure);
            }
        });
        return declared.isInstance(copy) ? copy : stage;
    }

    @Override
    public boolean cancel(boolean interrupt) {
        try {
            original.toCompletableFuture().cancel(interrupt);
        } catch (UnsupportedOperationException e) {
            // such a stage cannot be cancelled
        }
        return super.cancel(interrupt);
    }

    /** Dependents hold nothing. */
    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
