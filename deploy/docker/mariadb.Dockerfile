# MariaDB from Debian's packages, in the place of the official mysql image: the same variables, the same folder of first statements.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends mariadb-server && rm -rf /var/lib/apt/lists/* /var/lib/mysql && install -d -o mysql -g mysql /var/lib/mysql /run/mysqld
COPY mariadb-start /usr/local/bin/
USER mysql
VOLUME /var/lib/mysql
EXPOSE 3306
CMD ["mariadb-start"]
