package dev.ratelimit.spring.servlet.request;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/** The parameters of a request cannot be read, and others have to answer 400. */
@ResponseStatus(HttpStatus.BAD_REQUEST)
public final class UnreadableParametersException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    UnreadableParametersException() {
        super("the parameters of the request cannot be read");
    }
}
