package dev.ratelimit.spring;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import org.springframework.web.servlet.view.RedirectView;

/** Endpoints of every kind that count how often they are reached. */
@Controller
public class TestApi implements Forgetful {

    /** Paths of endpoints that only Spring MVC has, which answer at once. */
    public static final List<String> MORE = List.of("/callable-forward", "/callable-boom", "/deferred", "/send-error");

    private final AtomicInteger reached = new AtomicInteger();

    @Override
    public void forget() {
        reached.set(0);
    }

    /** How often any endpoint was reached. */
    public int reached() {
        return reached.get();
    }

    @GetMapping("/orders/{id}")
    @ResponseBody
    String order(@PathVariable String id) {
        reached.incrementAndGet();
        return id;
    }

    @DeleteMapping("/orders/{id}")
    @ResponseBody
    String delete(@PathVariable String id) {
        reached.incrementAndGet();
        return id;
    }

    @PostMapping(path = "/orders", consumes = "application/json", produces = "application/json")
    @ResponseBody
    String create() {
        reached.incrementAndGet();
        return "{}";
    }

    @RequestMapping("/any")
    @ResponseBody
    String any() {
        reached.incrementAndGet();
        return "any";
    }

    @GetMapping("/callable")
    @ResponseBody
    Callable<String> callable() {
        return () -> "later";
    }

    @GetMapping("/callable-forward")
    Callable<String> callableForward() {
        return () -> "forward:/orders/1";
    }

    @GetMapping("/callable-boom")
    @ResponseBody
    Callable<String> callableBoom() {
        return () -> {
            throw new ResponseStatusException(HttpStatus.BAD_GATEWAY);
        };
    }

    @GetMapping("/deferred")
    @ResponseBody
    DeferredResult<String> deferred() {
        DeferredResult<String> result = new DeferredResult<>();
        new Thread(() -> result.setResult("later")).start();
        return result;
    }

    @GetMapping("/deferred-timeout")
    @ResponseBody
    DeferredResult<String> deferredTimeout() {
        return new DeferredResult<>(100L);
    }

    @GetMapping("/sse")
    SseEmitter sse() throws IOException {
        SseEmitter emitter = new SseEmitter();
        emitter.send("one");
        emitter.send("two");
        emitter.complete();
        return emitter;
    }

    @GetMapping("/stream")
    @ResponseBody
    StreamingResponseBody stream() {
        return out -> out.write("streamed".getBytes(StandardCharsets.US_ASCII));
    }

    @GetMapping("/redirect")
    RedirectView redirect() {
        return new RedirectView("/any");
    }

    @GetMapping("/forward")
    String forward() {
        return "forward:/orders/1";
    }

    @GetMapping("/boom")
    @ResponseBody
    String boom() {
        throw new IllegalStateException("boom");
    }

    @GetMapping("/send-error")
    void sendError(HttpServletResponse response) throws IOException {
        response.sendError(418);
    }
}
