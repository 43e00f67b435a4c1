/** Addresses of clients and networks, and which address is the client's behind proxies. */
@NullMarked
package dev.ratelimit.spring.rules.address;

import org.jspecify.annotations.NullMarked;
