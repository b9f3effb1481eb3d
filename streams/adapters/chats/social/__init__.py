"""Messages of social networks, as their exports have them."""
