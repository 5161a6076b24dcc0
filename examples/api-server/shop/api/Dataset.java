package shop.api;

/** What the shop sells and to whom. A row follows from its number, so answers can be checked without the database. */
final class Dataset {
  static final int USERS = 200;
  static final int PRODUCTS = 400;
  static final int WORDS = 100;
  static final int FRIENDS = 3;

  private Dataset() {}

  static String userName(int user) {
    return "user-" + user;
  }

  static int age(int user) {
    return 18 + user * 7 % 60;
  }

  static int friend(int user, int k) {
    return (user * 13 + k * 31 + 1) % USERS;
  }

  static String post(int user) {
    return "post " + user * 17 % 1000 + " by " + userName(user);
  }

  static String productName(int product) {
    return "product-" + product;
  }

  /** The word under which a product is found; PRODUCTS / WORDS products share each. */
  static String word(int product) {
    return "word" + product % WORDS;
  }

  static int priceCents(int product) {
    return 100 + product * 37 % 9900;
  }

  static int purchase(int user, int k) {
    return (user * 5 + k * 71) % PRODUCTS;
  }
}
