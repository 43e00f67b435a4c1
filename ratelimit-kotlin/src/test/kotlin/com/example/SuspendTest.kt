package com.example

import dev.ratelimit.spring.RateLimited
import dev.ratelimit.spring.autoconfigure.RateLimitAutoConfiguration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedClass
import org.junit.jupiter.params.provider.MethodSource
import org.springframework.boot.WebApplicationType
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.autoconfigure.EnableAutoConfiguration
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.boot.test.context.runner.WebApplicationContextRunner
import org.springframework.context.ConfigurableApplicationContext
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.RestController
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger
import java.util.stream.Stream

@RestController
class SuspendController {

    val inside = AtomicInteger()
    val end = CompletableDeferred<Unit>()

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

    @GetMapping("/suspend/flow/{id}")
    @RateLimited("2/hour", key = "#id")
    suspend fun flow(@PathVariable id: String): Flow<String> {
        yield()
        return flowOf(id, "and more")
    }

    @GetMapping("/suspend/fallback/{id}")
    @RateLimited("2/hour", key = "#id", fallback = "later")
    suspend fun withFallback(@PathVariable id: String): String {
        yield()
        return id
    }

    suspend fun later(id: String): String {
        yield()
        return "later $id"
    }

    @GetMapping("/suspend/held/{id}")
    @RateLimited("2", algorithm = "concurrency", key = "#id")
    suspend fun held(@PathVariable id: String): String {
        inside.incrementAndGet()
        end.await()
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

@EnableAutoConfiguration
class SuspendApp

/** Handlers that suspend are limited as any other, on each stack, and calls of other functions are not. */
@ParameterizedClass
@MethodSource("stacks")
class SuspendTest(private val app: ConfigurableApplicationContext) {

    companion object {

        /** An application on each stack, which is closed in the end. */
        @JvmStatic
        fun stacks(): Stream<ConfigurableApplicationContext> =
            Stream.of(WebApplicationType.SERVLET, WebApplicationType.REACTIVE).map {
                SpringApplicationBuilder(SuspendApp::class.java, SuspendController::class.java)
                    .web(it)
                    .properties("server.port=0", "server.address=127.0.0.1", "spring.config.name=none")
                    .run()
            }
    }

    private val client = HttpClient.newHttpClient()

    private fun send(path: String): CompletableFuture<HttpResponse<String>> {
        val port = app.environment.getRequiredProperty("local.server.port")
        val uri = URI.create("http://127.0.0.1:$port/suspend/$path")
        return client.sendAsync(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
    }

    private fun get(path: String) = send(path).join()

    @Test
    fun `handler is limited`() {
        repeat(2) { assertThat(get("plain").body()).isEqualTo("plain") }

        assertThat(get("plain").statusCode()).isEqualTo(429)
    }

    @Test
    fun `handler is limited by its argument`() {
        repeat(2) { assertThat(get("7").body()).isEqualTo("7") }

        assertThat(get("7").statusCode()).isEqualTo(429)
        assertThat(get("8").statusCode()).isEqualTo(200)
    }

    @Test
    fun `handler of a flow is limited by its argument`() {
        repeat(2) { assertThat(get("flow/7").body()).contains("7", "and more") }

        assertThat(get("flow/7").statusCode()).isEqualTo(429)
    }

    @Test
    fun `fallback may suspend`() {
        repeat(2) { assertThat(get("fallback/7").body()).isEqualTo("7") }

        assertThat(get("fallback/7").body()).isEqualTo("later 7")
    }

    @Test
    fun `permits are held until the handler is done`() {
        val controller = app.getBean(SuspendController::class.java)
        val held = List(2) { send("held/7") }
        await().until { controller.inside.get() == 2 }
        assertThat(get("held/7").statusCode()).isEqualTo(429)

        controller.end.complete(Unit)

        held.forEach { assertThat(it.join().body()).isEqualTo("7") }
        await().until { get("held/7").statusCode() == 200 }
    }

    @Test
    fun `call of a bean cannot be limited`() {
        WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration::class.java))
            .withBean(SuspendService::class.java)
            .run { assertThat(it.startupFailure).hasStackTraceContaining("a function that suspends cannot be limited") }
    }
}
