package dev.ratelimit.spring.servlet.request;

/** The server cannot read the parameters of a request, and leaves it to others to answer 400. */
public final class UnreadableParametersException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    UnreadableParametersException() {
        super("the parameters of the request cannot be read");
    }
}
