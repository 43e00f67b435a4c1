package dev.ratelimit.spring.web;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;

/** Filters that commit the response, if the request asks for that: before all limits, or between their stages. */
@Configuration(proxyBeanMethods = false)
public class Committing {

    @Bean
    FilterRegistrationBean<Filter> first() {
        return committing(Ordered.HIGHEST_PRECEDENCE, "X-Commit", "x");
    }

    @Bean
    FilterRegistrationBean<Filter> betweenTheStages() {
        return committing(-95, "X-Hasty", "");
    }

    private static FilterRegistrationBean<Filter> committing(int order, String header, String body) {
        FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
            if ("yes".equals(((HttpServletRequest) request).getHeader(header))) {
                response.getOutputStream().print(body);
                response.flushBuffer();
            }
            chain.doFilter(request, response);
        });
        filter.setOrder(order);
        filter.setDispatcherTypes(DispatcherType.REQUEST);
        return filter;
    }
}
