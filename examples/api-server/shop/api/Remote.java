package shop.api;

/** The services of other teams, each a blocking call over the network. */
final class Remote {
  private Remote() {}

  static String avatar(int user) {
    Network.roundTrip(15);
    return avatarUrl(user);
  }

  static int advertisedProduct(int user) {
    Network.roundTrip(22);
    return advertisement(user);
  }

  static int surchargePercent(int product) {
    Network.roundTrip(30);
    return surcharge(product);
  }

  static String authorisePayment(int user, int cents) {
    Network.roundTrip(38);
    return authorisation(user, cents);
  }

  static int mostLike(int[] products) {
    Network.roundTrip(18);
    return similar(products);
  }

  // What the services answer, without the wait: the load generator checks responses by these.

  static String avatarUrl(int user) {
    return "/avatars/" + user * 7919 % 10007 + ".png";
  }

  static int advertisement(int user) {
    return user * 29 % Dataset.PRODUCTS;
  }

  static int surcharge(int product) {
    return product % 5;
  }

  static String authorisation(int user, int cents) {
    return Integer.toHexString(user * 1_000_003 ^ cents);
  }

  static int similar(int[] products) {
    int sum = 0;
    for (int product : products) {
      sum += product;
    }
    return sum * 3 % Dataset.PRODUCTS;
  }
}
