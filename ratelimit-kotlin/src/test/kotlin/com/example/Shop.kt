package com.example

import dev.ratelimit.spring.KeyResolver
import dev.ratelimit.spring.RateLimitExceededException
import dev.ratelimit.spring.RateLimited
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.runApplication
import org.springframework.context.annotation.Bean
import org.springframework.stereotype.Service
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestBody
import org.springframework.web.bind.annotation.RestController

@SpringBootApplication
class Shop {

    @Bean
    fun tenant() = KeyResolver { request -> request.header("X-Tenant") }
}

data class Login(val username: String, val password: String)

@RestController
class LoginController(private val mails: Mails) {

    @PostMapping("/login")
    @RateLimited("5/minute", key = "#login.username")
    fun login(@RequestBody login: Login) = "Welcome, ${login.username}"

    @GetMapping("/report")
    @RateLimited(policy = "reports", permits = 10)
    fun report() = "report"

    @PostMapping("/mail")
    fun mail(): String =
        try {
            mails.send("alice")
        } catch (refused: RateLimitExceededException) {
            refused.retryAfter()?.let { "again in ${it.toSeconds()} s" } ?: "never"
        }
}

@Service
class Mails {

    @RateLimited("2/hour", key = "#to", name = "mails")
    fun send(to: String) = "sent to $to"
}

fun main(args: Array<String>) {
    runApplication<Shop>(*args)
}
