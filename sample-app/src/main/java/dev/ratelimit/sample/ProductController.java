package dev.ratelimit.sample;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Products. This class does not mention limits: the policies in {@code application.yml} apply to every request. */
@RestController
@RequestMapping("/api/products")
class ProductController {

    record Product(long id, String name, long cents) {}

    private final Map<Long, Product> products = new TreeMap<>(Map.of(
            1L, new Product(1, "Kettle", 3_490),
            2L, new Product(2, "Teapot", 2_250),
            3L, new Product(3, "Cup", 790)));

    @GetMapping
    List<Product> list() {
        return List.copyOf(products.values());
    }

    @GetMapping("/{id}")
    ResponseEntity<Product> byId(@PathVariable long id) {
        return ResponseEntity.ofNullable(products.get(id));
    }
}
