package dev.ratelimit.spring.servlet.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ratelimit.spring.WebRequest;
import dev.ratelimit.spring.rules.request.Endpoint;
import dev.ratelimit.spring.rules.request.EndpointResolver;
import dev.ratelimit.spring.servlet.request.Dispatchers;
import dev.ratelimit.spring.servlet.request.ServletPaths;
import dev.ratelimit.spring.servlet.request.ServletWebRequest;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;

class RoutedEndpointsTest {

    /** Answers all questions otherwise than by default. */
    private static final EndpointResolver OWN = new EndpointResolver() {

        @Override
        public Endpoint resolve(WebRequest request) {
            return Endpoint.NOWHERE;
        }

        @Override
        public Map<String, String> variables(WebRequest request) {
            return Map.of("id", "7");
        }

        @Override
        public boolean ignoresSuffixes() {
            return true;
        }

        @Override
        public boolean mayLeadToAnnotated(WebRequest request) {
            return true;
        }

        @Override
        public boolean mayLeadToManagement(WebRequest request) {
            return true;
        }
    };

    @Test
    void routes_changeNothingElse() {
        WebRequest request =
                new ServletWebRequest(new MockHttpServletRequest("GET", "/a"), new ServletPaths(new Dispatchers()));

        EndpointResolver routed = new RoutedEndpoints(OWN);

        assertThat(routed.resolve(request)).isSameAs(Endpoint.NOWHERE);
        assertThat(routed.variables(request)).containsEntry("id", "7");
        assertThat(routed.ignoresSuffixes()).isTrue();
        assertThat(routed.mayLeadToAnnotated(request)).isTrue();
        assertThat(routed.mayLeadToManagement(request)).isTrue();
        assertThat(routed.haveRoutes()).isTrue();
        assertThat(routed.knowRoutes()).isFalse();
    }
}
