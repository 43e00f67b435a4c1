package com.example

import dev.ratelimit.spring.RateLimited
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration
import dev.ratelimit.test.spring.WithFakeTicker
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.boot.test.context.runner.WebApplicationContextRunner
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc
import org.springframework.http.HttpStatus
import org.springframework.test.web.servlet.assertj.MockMvcTester
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.RestController

@RestController
class SuspendController {

    @GetMapping("/suspend/plain")
    @RateLimited("2/hour", key = "ip")
    suspend fun plain(): String {
        yield()
        return "plain"
    }

    @GetMapping("/suspend/{id}")
    @RateLimited("2/hour", key = "#id")
    suspend fun byArgument(@PathVariable id: String): String {
        yield()
        return id
    }
}

open class SuspendService {

    @RateLimited("2/hour", key = "#to")
    open suspend fun send(to: String): String {
        yield()
        return to
    }
}

/** Handlers that suspend are limited as any other, and calls of other functions are not. */
@SpringBootTest
@AutoConfigureMockMvc
@WithFakeTicker
class SuspendTest {

    @Autowired
    lateinit var mvc: MockMvcTester

    private fun get(path: String) = mvc.get().uri(path).exchange()

    @Test
    fun `handler is limited`() {
        repeat(2) { assertThat(get("/suspend/plain")).hasStatusOk().bodyText().isEqualTo("plain") }

        assertThat(get("/suspend/plain")).hasStatus(HttpStatus.TOO_MANY_REQUESTS)
    }

    @Test
    fun `handler is limited by its argument`() {
        repeat(2) { assertThat(get("/suspend/7")).hasStatusOk().bodyText().isEqualTo("7") }

        assertThat(get("/suspend/7")).hasStatus(HttpStatus.TOO_MANY_REQUESTS)
        assertThat(get("/suspend/8")).hasStatusOk()
    }

    @Test
    fun `call of a bean cannot be limited`() {
        WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration::class.java))
            .withBean(SuspendService::class.java)
            .run { assertThat(it.startupFailure).hasStackTraceContaining("a function that suspends cannot be limited") }
    }
}
