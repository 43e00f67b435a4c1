package com.example;

import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.header;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import dev.ratelimit.test.FakeTicker;
import dev.ratelimit.test.spring.WithFakeTicker;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.test.web.servlet.MockMvc;

@SpringBootTest
@AutoConfigureMockMvc
@WithFakeTicker
class ApplicationTest {

    @Autowired
    MockMvc mvc;

    @Autowired
    FakeTicker ticker;

    @Test
    void limits() throws Exception {
        mvc.perform(get("/dear")).andExpect(status().isOk());
        mvc.perform(get("/dear")).andExpect(status().isTooManyRequests()).andExpect(header().exists("Retry-After"));

        mvc.perform(get("/hello")).andExpect(status().isOk());
        mvc.perform(get("/hello")).andExpect(status().isOk());
        mvc.perform(get("/hello")).andExpect(status().isTooManyRequests());

        ticker.advance(Duration.ofMinutes(1));
        mvc.perform(get("/dear")).andExpect(status().isOk());
    }
}
