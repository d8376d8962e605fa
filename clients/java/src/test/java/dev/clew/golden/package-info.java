/** The driver that replays the golden cases of every language: see tests/golden/README.md. */
package dev.clew.golden;
