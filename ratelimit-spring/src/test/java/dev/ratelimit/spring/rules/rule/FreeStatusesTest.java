package dev.ratelimit.spring.rules.rule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FreeStatusesTest {

    private static int[] free(FreeStatuses statuses, int... of) {
        return IntStream.of(of).filter(statuses::contains).toArray();
    }

    @Test
    void allBut_failures_isFreeForAllThatIsKnownToBeNone() {
        FreeStatuses statuses = FreeStatuses.allBut(new StatusSet(List.of("401", "5xx")));

        assertThat(free(statuses, 101, 200, 206, 302, 304, 401, 404, 406, 412, 416, 500, 503))
                .containsExactly(101, 200, 206, 302, 304, 404, 412, 416);
        assertThat(statuses).hasToString("counting 401, 5xx");
    }

    @Test
    void allBut_ok_countsWhatARequestCanMakeOfIt() {
        FreeStatuses statuses = FreeStatuses.allBut(new StatusSet(List.of("200")));

        assertThat(free(statuses, 200, 201, 206, 304, 401, 406, 412, 416)).containsExactly(201, 401);
    }

    @Test
    void standsForAnother_whatConditionsAndRangesMakeOfA200() {
        assertThat(IntStream.of(200, 206, 304, 404, 406, 412, 416).filter(FreeStatuses::standsForAnother))
                .containsExactly(206, 304, 412, 416);
    }

    @Test
    void of_whatIsWritten_butNever406() {
        assertThat(free(FreeStatuses.of(new StatusSet(List.of("2xx", "304"))), 200, 206, 302, 304, 401))
                .containsExactly(200, 206, 304);
        assertThat(free(FreeStatuses.of(new StatusSet(List.of("4xx"))), 404, 406))
                .containsExactly(404);
        assertThat(FreeStatuses.of(new StatusSet(List.of("2xx")))).hasToString("free for 2xx");
        assertThatThrownBy(() -> FreeStatuses.of(new StatusSet(List.of("200", "406"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("406 cannot be free: with its Accept header, a request can turn any response into a 406");
    }

    @Test
    void new_thatChargesNothing_isRefused() {
        assertThatThrownBy(() -> FreeStatuses.allBut(new StatusSet(List.of("1xx"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no response ends with 1xx, so nothing is charged; write 2xx to 5xx");
        assertThatThrownBy(() -> FreeStatuses.of(new StatusSet(List.of("1xx", "2xx", "3xx", "4xx", "5xx"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("every response is free, so nothing is charged; write");
        assertThat(free(FreeStatuses.allBut(new StatusSet(List.of("101"))), 101, 200))
                .containsExactly(200);
        assertThat(free(FreeStatuses.allBut(new StatusSet(List.of("406"))), 200, 406))
                .containsExactly(200);
    }
}
