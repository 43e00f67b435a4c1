/** How a servlet request ends: permits are returned, and what is charged depends on the status. */
@NullMarked
package dev.ratelimit.spring.servlet.settlement;

import org.jspecify.annotations.NullMarked;
