# MariaDB from Debian's packages, in the place of the official mysql image: the same variables, the same folder of first statements.
# The server and the client alone: Debian's mariadb-server brings Perl and what a machine with many services needs.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends mariadb-server-core mariadb-client-core && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && useradd --system --home-dir /nonexistent --uid 999 mysql && rm -rf /var/lib/mysql && install -d -o mysql /var/lib/mysql /run/mysqld
COPY mariadb-start /usr/local/bin/
USER mysql
VOLUME /var/lib/mysql
EXPOSE 3306
CMD ["mariadb-start"]
