/* What PufferLib's CartPole names of raylib, doing nothing: training draws nothing. */
#include <stdbool.h>
typedef struct Color { unsigned char r, g, b, a; } Color;
typedef struct Vector2 { float x, y; } Vector2;
enum { KEY_ESCAPE, KEY_TAB };
#define InitWindow(...) ((void)0)
#define SetTargetFPS(...) ((void)0)
#define CloseWindow() ((void)0)
#define IsKeyDown(key) false
#define IsKeyPressed(key) false
#define ToggleFullscreen() ((void)0)
#define BeginDrawing() ((void)0)
#define EndDrawing() ((void)0)
#define ClearBackground(...) ((void)0)
#define DrawLine(...) ((void)0)
#define DrawLineEx(...) ((void)0)
#define DrawRectangle(...) ((void)0)
#define DrawText(...) ((void)0)
