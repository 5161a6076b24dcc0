// Exits at once.
int main() {
  return 7;
}
