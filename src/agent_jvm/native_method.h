// How the native methods of injected classes are declared.
#pragma once

// Found by name: the JVM searches its agents for the native methods of the boot loader's classes.
#define NATIVE extern "C" __attribute__((visibility("default")))
