package com.example

import dev.ratelimit.RateLimiter
import dev.ratelimit.test.RateLimitAssertions.assertThat
import dev.ratelimit.test.spring.WithFakeTicker
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc
import org.springframework.http.HttpStatus
import org.springframework.test.web.servlet.assertj.MockMvcTester
import java.nio.file.Files
import java.nio.file.Path

/** The code of docs/kotlin.md does what the page says. */
@SpringBootTest
@AutoConfigureMockMvc
@WithFakeTicker
class ShopTest {

    @Autowired
    lateinit var mvc: MockMvcTester

    @Test
    fun `report is limited by the key of a bean`() {
        fun report(tenant: String) = mvc.get().uri("/report").header("X-Tenant", tenant).exchange()

        assertThat(report("acme")).hasStatusOk()
        assertThat(report("acme")).hasStatus(HttpStatus.TOO_MANY_REQUESTS)
        assertThat(report("other")).hasStatusOk()
    }

    @Test
    fun `call of a bean is refused with an exception`() {
        repeat(2) { assertThat(mvc.post().uri("/mail")).bodyText().isEqualTo("sent to alice") }

        assertThat(mvc.post().uri("/mail")).bodyText().isEqualTo("again in 1800 s")
    }

    @Test
    fun `core limits without Spring`(@Autowired limiter: RateLimiter) {
        repeat(20) { assertThat(answer(limiter, "alice")).endsWith("left") }

        assertThat(limiter.decide(search.charge("alice"))).isRefusedBy("search")
        assertThat(answer(limiter, "alice")).isEqualTo("again in 100 ms")
        assertThat(settle(limiter, "bob") { 3 }).isTrue()
        assertThat(answer(limiter, "bob")).isEqualTo("16 left")
        assertThat(answer(newLimiter(), "bob")).isEqualTo("19 left")
    }

    @Test
    fun `page shows the code here`() {
        val blocks = Regex("```kotlin\n(.*?)```", RegexOption.DOT_MATCHES_ALL)
            .findAll(Files.readString(Path.of("../docs/kotlin.md"))).map { it.groupValues[1] }.toList()

        assertThat(blocks).isEqualTo(listOf("Shop", "Core", "LoginTest").map {
            Files.readString(Path.of("src/test/kotlin/com/example/$it.kt")).substringAfter("package com.example\n\n")
        })
    }
}
