package com.example

import dev.ratelimit.test.FakeTicker
import dev.ratelimit.test.spring.WithFakeTicker
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc
import org.springframework.http.HttpStatus
import org.springframework.http.MediaType
import org.springframework.test.web.servlet.assertj.MockMvcTester
import java.time.Duration

@SpringBootTest
@AutoConfigureMockMvc
@WithFakeTicker
class LoginTest {

    @Autowired
    lateinit var mvc: MockMvcTester

    @Autowired
    lateinit var ticker: FakeTicker

    private fun login(user: String) =
        mvc.post().uri("/login").contentType(MediaType.APPLICATION_JSON)
            .content("""{"username": "$user", "password": "guess"}""")
            .exchange()

    @Test
    fun `sixth login of a user is refused for twelve seconds`() {
        repeat(5) { assertThat(login("alice")).hasStatusOk() }
        assertThat(login("alice")).hasStatus(HttpStatus.TOO_MANY_REQUESTS)
        assertThat(login("bob")).hasStatusOk()

        ticker.advance(Duration.ofSeconds(12))

        assertThat(login("alice")).hasStatusOk()
    }
}
