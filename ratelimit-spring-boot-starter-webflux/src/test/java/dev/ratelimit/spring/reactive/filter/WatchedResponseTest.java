package dev.ratelimit.spring.reactive.filter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;

class WatchedResponseTest {

    private final WatchedResponse response = new WatchedResponse(new MockServerHttpResponse(), () -> {});

    @Test
    void setStatusCode_thatAConditionCanCause_remembersTheOneBefore() {
        response.setStatusCode(HttpStatus.NOT_FOUND);

        response.setStatusCode(HttpStatus.PRECONDITION_FAILED);

        assertThat(response.replaced()).containsExactly(404);
    }

    @Test
    void setRawStatusCode_thatAConditionCanCause_remembersTheOneBefore() {
        response.setRawStatusCode(404);

        response.setRawStatusCode(412);

        assertThat(response.replaced()).containsExactly(404);
    }
}
