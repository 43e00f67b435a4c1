package dev.ratelimit.sample;

import dev.ratelimit.spring.RateLimited;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A login, where guessing must be slow: five attempts per minute from one address, regardless of the user name. */
@RestController
class LoginController {

    @PostMapping("/api/login")
    @RateLimited(value = "5/minute", key = "ip")
    ResponseEntity<Void> login(@RequestParam String user, @RequestParam String password) {
        boolean known = user.equals("alice") && password.equals("wonderland");
        return ResponseEntity.status(known ? HttpStatus.NO_CONTENT : HttpStatus.UNAUTHORIZED)
                .build();
    }
}
