package dev.ratelimit.spring.rules.path;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.rules.path.Routes.Route;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RoutesTest {

    private static final List<Route> ROUTES = Stream.of(
                    "/hello",
                    "/orders/{id}",
                    "/orders/{id}/items",
                    "/api/reports/{year}",
                    "/api/search",
                    "/{repository}")
            .map(pattern -> new Route(Set.of(), pattern))
            .toList();

    private final Routes routes = new Routes(ROUTES.subList(0, 5), pattern -> pattern.equals("/css/**"), false, false);

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/helo | /hello",
                "/HELO | /hello",
                "/order/** | /orders/**",
                "/orders/{id}/item | /orders/{id}/items",
                "/api | /api/**",
                "/api/* | /api/**",
                "/ | /**",
                "/hello.* | /hello/**",
                "/api.* | /api/**",
                "/css/* | /css/**",
                "/reports/** | /api/reports/**",
                "/search | /api/search",
                "/v1/orders/** | /orders/**",
                "/api/v1/hello | /hello",
                "/api/serch | /api/search"
            })
    void pattern_ofNoRoute_isReplacedByOneThatMatches(String written, String meant) {
        assertThat(routes.meant(written, false)).isEqualTo(meant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/login", "/actuator/prometheus", "/x/{y}/z", "/{a}-{b}/**", "/hello.*/x"})
    void pattern_likeNoRoute_isNotReplaced(String written) {
        assertThat(routes.meant(written, false)).isNull();
    }

    @ParameterizedTest
    @CsvSource({"/Hello, /hello", "/ORDERS/**, /orders/**"})
    void pattern_inAnotherCase_isReplacedIfCaseCounts(String written, String meant) {
        assertThat(routes.meant(written, true)).isEqualTo(meant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/x", "/helo/x"})
    void route_ofVariablesAlone_isNotWhatWasMeant(String written) {
        Routes generic = new Routes(ROUTES.subList(5, 6), pattern -> false, false, false);

        assertThat(generic.meant(written, false)).isNull();
    }
}
