from tests.film.conftest import cartpole as cartpole
