/** Which endpoint a servlet request leads to, and which endpoints there are. */
@NullMarked
package dev.ratelimit.spring.servlet.endpoint;

import org.jspecify.annotations.NullMarked;
