package dev.ratelimit.spring.web;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** Allows the origin {@code https://shop.example} to read orders, by Spring MVC, and {@code /any}, by a bean. */
@Configuration(proxyBeanMethods = false)
class CrossOrigins implements WebMvcConfigurer {

    @Override
    public void addCorsMappings(CorsRegistry registry) {
        registry.addMapping("/orders/**").allowedOrigins("https://shop.example");
    }

    @Bean
    CorsConfigurationSource source() {
        CorsConfiguration configuration = new CorsConfiguration();
        configuration.addAllowedOrigin("https://shop.example");
        configuration.addAllowedMethod("GET");
        UrlBasedCorsConfigurationSource source = new UrlBasedCorsConfigurationSource();
        source.registerCorsConfiguration("/any", configuration);
        return source;
    }
}
